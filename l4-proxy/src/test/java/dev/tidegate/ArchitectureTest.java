package dev.tidegate;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The arrows between packages, as docs/architecture.md draws them. */
class ArchitectureTest {
    private static final String ROOT = "dev.tidegate.";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/test-classes/")) // wherever they are compiled to
            .withImportOption(location -> !location.contains("/testkit/"))
            .importPackages("dev.tidegate");

    /** Each package of the proxy, and what of ours it may import. */
    private static final String ARROWS = """
            model      ->
            telemetry  -> model
            lifetime   -> model
            worker     -> lifetime telemetry model
            admission  -> model telemetry
            balance    -> model
            dial       -> model lifetime telemetry
            protocol   -> model
            fitness    -> model lifetime
            relay      -> model protocol
            connection -> model telemetry lifetime worker admission balance dial protocol relay
            listener   -> connection admission worker model
            config     ->
            handover   ->
            control    -> model telemetry lifetime worker admission balance dial protocol relay connection listener config \
            fitness admin admin.command admin.view health health.probe systemd
            cli        -> model telemetry lifetime worker admission balance dial protocol relay connection listener config \
            handover fitness admin admin.command admin.view health health.probe systemd control
            admin      -> admin.command admin.view
            admin.command -> admin.view
            admin.view ->
            health     -> health.probe
            health.probe -> health
            systemd    ->
            """;

    @TestFactory
    Stream<DynamicTest> packagesImportOnlyWhatTheArrowsAllow() {
        return ARROWS.lines()
                .map(line -> line.split("->", -1))
                .map(parts ->
                        DynamicTest.dynamicTest(parts[0].strip(), () -> arrows(parts[0].strip(), parts[1].strip())));
    }

    private static void arrows(String name, String allowed) {
        String[] packages = Stream.concat(Stream.of(name), Arrays.stream(allowed.split(" ", -1)))
                .filter(word -> !word.isEmpty())
                .map(word -> ROOT + word)
                .toArray(String[]::new);
        DescribedPredicate<JavaClass> elsewhere =
                resideInAnyPackage("dev.tidegate..").and(resideOutsideOfPackages(packages));
        noClasses()
                .that()
                .resideInAPackage(ROOT + name)
                .should()
                .dependOnClassesThat(elsewhere)
                .allowEmptyShould(true)
                .check(CLASSES);
    }

    @Test
    void everyPackageStandsInTheArrows() {
        Set<String> known = ARROWS.lines()
                .map(line -> ROOT + line.split("->", -1)[0].strip())
                .collect(Collectors.toSet());
        Set<String> unknown = packages();
        unknown.removeAll(known);
        assertEquals(Set.of(), unknown, "packages without a line in ARROWS");
    }

    @Test
    void everyPackageSaysWhatItIsFor() {
        Set<String> silent = packages();
        // Read from the sources: a package-info without an annotation leaves no class file.
        silent.removeIf(name -> Stream.of("l4-proxy", "admin-api", "health", "systemd")
                .map(module -> RepositoryFiles.root()
                        .resolve(module + "/src/main/java/" + name.replace('.', '/') + "/package-info.java"))
                .anyMatch(Files::isRegularFile));
        assertEquals(Set.of(), silent, "packages without package-info.java");
    }

    private static Set<String> packages() {
        return CLASSES.stream().map(JavaClass::getPackageName).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void noPackagesDependOnEachOtherInACircle() {
        slices().matching("dev.tidegate.(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void whatNeedsNoSocketKnowsNoChannel() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        under("model", "telemetry", "lifetime", "admission", "balance", "protocol", "config"))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty.channel..")
                .check(CLASSES);
    }

    @Test
    void onlyTheCommandLineEndsTheProcess() {
        outsideOfCliNobodyUses("java.lang.System.exit", "java.lang.Runtime.exit", "java.lang.Runtime.halt");
    }

    @Test
    void timeComesByConstructor() {
        outsideOfCliNobodyUses(
                "java.lang.System.nanoTime",
                "java.lang.System.currentTimeMillis",
                "java.lang.Thread.sleep",
                "java.time.Instant.now",
                "java.time.LocalDateTime.now",
                "java.time.Clock.systemUTC",
                "java.time.InstantSource.system");
    }

    @Test
    void chanceComesByConstructor() {
        outsideOfCliNobodyUses(
                "java.lang.Math.random",
                "java.util.Random.<init>",
                "java.util.SplittableRandom.<init>",
                "java.util.concurrent.ThreadLocalRandom.current",
                "java.util.random.RandomGenerator.getDefault",
                "java.util.random.RandomGenerator.of");
    }

    /** By call or by method reference. */
    private static void outsideOfCliNobodyUses(String... members) {
        Set<String> forbidden = Set.of(members);
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + "cli")
                .should()
                .accessTargetWhere(DescribedPredicate.describe(
                        "the target is one of " + forbidden,
                        access -> forbidden.contains(access.getTargetOwner().getName() + "." + access.getName())))
                .check(CLASSES);
    }

    @Test
    void classesAreFinalUnlessTheyAreMadeToBeExtended() {
        classes()
                .that()
                .areTopLevelClasses()
                .and()
                .areNotInterfaces()
                .and()
                .areNotEnums()
                .should()
                .haveModifier(JavaModifier.FINAL)
                .orShould()
                .haveModifier(JavaModifier.ABSTRACT)
                .check(CLASSES);
    }

    private static String[] under(String... names) {
        return Arrays.stream(names).map(name -> ROOT + name).toArray(String[]::new);
    }
}
