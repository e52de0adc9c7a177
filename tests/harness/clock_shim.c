// The wall clock of a process under test, preloaded into it.
//
// LOCK_TEST_CLOCK is the path of a file with one native 64-bit integer, which the test writes while
// the process runs: twice the microseconds, plus 1 if they are the absolute time rather than an
// offset. A single integer ensures that no read of the clock sees half a change.
//
// The shim calls the kernel directly instead of the next clock_gettime: looking that up allocates,
// and an allocator that reads the clock during its own setup would then wait for itself.

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t *setting;

__attribute__((constructor)) static void attach(void) {
    const char *path = getenv("LOCK_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *page = mmap(NULL, sizeof *setting, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED)
        setting = page;
}

static int64_t moved(const struct timespec *now) {
    int64_t word = __atomic_load_n(setting, __ATOMIC_ACQUIRE);
    int64_t micros = word >> 1;
    return word & 1 ? micros : micros + (int64_t)now->tv_sec * 1000000 + now->tv_nsec / 1000;
}

// Monotonic clocks (CLOCK_MONOTONIC and the like) are unaffected, as when an administrator sets a
// clock.
int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (failed || !setting || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return failed;
    int64_t micros = moved(now);
    now->tv_sec = micros / 1000000;
    now->tv_nsec = micros % 1000000 * 1000;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact))
        return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *into) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (into)
        *into = exact.tv_sec;
    return exact.tv_sec;
}
