import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Prints one line of JSON for each step: its name, and the value or the refusal that came of it. */
final class Report {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A step, which may fail. */
  interface Attempt {
    void run() throws Exception;
  }

  private Report() {}

  static void of(String step, Object value) {
    ObjectNode line = JSON.createObjectNode().put("step", step);
    line.set("value", JSON.valueToTree(value));
    System.out.println(line);
  }

  /** A step that has to fail: prints the classes and messages of what it throws, or that it went through. */
  static void refusal(String step, Attempt attempt) {
    StringBuilder said = new StringBuilder();
    try {
      attempt.run();
      said.append("went through");
    } catch (Throwable thrown) {
      for (Throwable cause = thrown; cause != null; cause = cause.getCause())
        said.append(cause.getClass().getSimpleName()).append(": ").append(cause.getMessage()).append('\n');
    }
    of(step, said.toString().trim());
  }
}
