# Sourced by bench/compare, bench/lifetime, bench/cold-start, bench/sim, bench/capacity and bench/jmh: builds what is not
# built, and starts a main class of the bench module.
# The caller has set `home` to the root of the source tree.

bench_fail() {
    printf '%s: %s\n' "$0" "$1" >&2
    exit 1
}

bench_is_stale() {
    jar=$(find "$home/bench/target" -maxdepth 1 -name 'tidegate-bench-*.jar' 2>/dev/null | head -n 1)
    [ -n "$jar" ] && [ -d "$home/bench/target/lib" ] || return 0
    stamp=$home/bench/target/launcher.stamp
    [ -f "$stamp" ] && [ "$stamp" -nt "$jar" ] || stamp=$jar
    newer=$(
        cd "$home"
        for module in health admin-api systemd l4-proxy bench; do
            find "$module/pom.xml" "$module/src/main" -newer "$stamp" -print 2>/dev/null || :
        done
        find pom.xml -newer "$stamp" -print
    )
    [ -n "$newer" ]
}

bench_build() {
    command -v mvn >/dev/null || bench_fail "there is no build of bench yet and no mvn on the PATH"
    printf '%s: building (once, and when a source has changed) ...\n' "$0" >&2
    output=$(mktemp)
    stamp=$(mktemp)
    if (cd "$home" && mvn -B -q -Plauncher -pl bench -am package) >"$output" 2>&1 </dev/null; then
        mv "$stamp" "$home/bench/target/launcher.stamp"
        rm -f "$output"
    else
        cat "$output" >&2
        rm -f "$output" "$stamp"
        bench_fail "the build failed, see above"
    fi
}

# bench_java [JVM option...] MAIN_CLASS [argument...]
bench_java() {
    if bench_is_stale; then
        bench_build
    fi
    if [ -n "${JAVA_HOME:-}" ]; then
        java=$JAVA_HOME/bin/java
    else
        java=java
    fi
    jar=$(find "$home/bench/target" -maxdepth 1 -name 'tidegate-bench-*.jar' | head -n 1)
    exec "$java" -cp "$jar:$home/bench/target/lib/*" "$@"
}
