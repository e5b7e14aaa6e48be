#!/bin/sh
# Becomes the adapter of the Java client, compiled if it is not yet. Exit code 77: there is no JDK, or nothing to compile it with.
classes=$(python3 ../../../java/build.py compile) || exit $?
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$classes" Adapter
