#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "engine/platform/apart.h"

int main(int argc, char** argv) {
    lockstep::platform::serveApart();
    return doctest::Context(argc, argv).run();
}
