package dev.tidegate.admin.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/**
 * An error, as RFC 9457 has it.
 *
 * @param type always {@code about:blank}
 * @param title the status in words
 * @param status of the answer
 * @param detail what is wrong and what would be right
 * @param problems one by one; left out where there are none to list
 */
public record ProblemDetails(
        String type,
        String title,
        int status,
        String detail,
        @JsonInclude(JsonInclude.Include.NON_NULL) List<ProblemView> problems) {}
