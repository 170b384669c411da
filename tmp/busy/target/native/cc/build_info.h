#define BUILD_COMPILER "cc (Debian 12.2.0-14+deb12u1) 12.2.0"
#define BUILD_FLAGS "-std=c11 -O2"
#define BUILD_SOURCES "3e5a992f6badec4c"
