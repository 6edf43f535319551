package dev.tidegate.cli;

import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code tidegate weight}. */
@Command(name = "weight", description = "Gives an endpoint a weight, beside the configured one, or takes it back.")
final class WeightCommand implements Callable<Integer> {
    private static final int MAX = 1_000;

    @Parameters(paramLabel = "BACKEND/ENDPOINT", converter = EndpointName.Converter.class, description = "Which.")
    private EndpointName endpoint;

    @Parameters(
            paramLabel = "N|reset",
            converter = WeightConverter.class,
            description = "0 to 1000, 0 for no new connections; reset: back to the configured weight.")
    private OptionalInt weight;

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    static final class WeightConverter implements ITypeConverter<OptionalInt> {
        @Override
        public OptionalInt convert(String text) {
            if (text.equals("reset")) {
                return OptionalInt.empty();
            }
            if (!text.matches("[0-9]{1,4}") || Integer.parseInt(text) > MAX) {
                throw new TypeConversionException("\"" + text + "\" is no weight; write 0 to " + MAX + ", or reset");
            }
            return OptionalInt.of(Integer.parseInt(text));
        }
    }

    @Override
    public Integer call() {
        String target = endpoint.path() + "/weight";
        AdminClient.Request request = weight.isPresent()
                ? AdminClient.Request.write("PUT", target, Map.of("weight", weight.getAsInt()))
                : AdminClient.Request.write("DELETE", target, Map.of());
        return admin.talk(client -> {
            Json answer = client.ask(write.apply(request));
            String said = weight.isPresent() ? "weight " + weight.getAsInt() : "the configured weight";
            admin.show(answer, AnswerText.of(answer, endpoint + ": " + said));
            return Exit.OK;
        });
    }
}
