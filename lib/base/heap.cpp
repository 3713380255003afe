#include "base/heap.h"

// Some header of the C library says whose it is.
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace qtool {

void trim_heap() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace qtool
