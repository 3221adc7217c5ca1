import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.elastos.did.DefaultDIDAdapter;
import org.elastos.did.exception.DIDTransactionException;

/** Asks a node by the SDK's own adapter, and has the command put operations on its chain. */
final class Devnet extends DefaultDIDAdapter {
  private final String node;
  private final String command;
  private final String rest;
  private final Path directory;

  /** Takes the program that runs the command, the command, the REST and JSON-RPC addresses, and a directory for files. */
  Devnet(String node, String command, String rest, String rpc, Path directory) {
    super(rpc + "/eid");
    this.node = node;
    this.command = command;
    this.rest = rest;
    this.directory = directory;
  }

  @Override
  public void createIdTransaction(String request, String memo) throws DIDTransactionException {
    try {
      Path file = Files.writeString(directory.resolve("operation.json"), request);
      File said = directory.resolve("publish.out").toFile();
      Process process =
          new ProcessBuilder(
                  node, command, "did", "publish", file.toString(), "--devnet-account", "0", "--rest", rest, "--json")
              .redirectErrorStream(true)
              .redirectOutput(said)
              .start();
      if (process.waitFor() != 0)
        throw new DIDTransactionException(Files.readString(said.toPath(), StandardCharsets.UTF_8).trim());
    } catch (IOException thrown) {
      throw new DIDTransactionException(thrown);
    } catch (InterruptedException thrown) {
      Thread.currentThread().interrupt();
      throw new DIDTransactionException(thrown);
    }
  }
}
