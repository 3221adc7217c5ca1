import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/**
 * Runs a program with the SDK's classes as they are in its jar, but for the name of the method.
 *
 * DID.METHOD is a constant that the compiler copied into each class that reads it, so no setting, reflection or class earlier in the
 * class path changes it. This loader changes that one text as a class is loaded: each constant that is exactly "elastos" becomes
 * "ledger". Instructions, other constants ("elastos/did/1.0" too) and the jar on disk stay as they are.
 *
 * Arguments: a directory of jars, the directory of this program, the class to run, and its arguments.
 */
public final class MethodLoader extends URLClassLoader {
  private static final String SDK = "org.elastos.did.";
  private static final String THEIRS = "elastos";
  private static final String OURS = "ledger";

  /** Classes that held the constant, by their names without the package. */
  static final Set<String> CHANGED = new TreeSet<>();

  private MethodLoader(URL[] path) {
    super(path, ClassLoader.getPlatformClassLoader());
  }

  public static void main(String[] args) throws Throwable {
    try (MethodLoader loader = new MethodLoader(path(new File(args[0]), new File(args[1])))) {
      Class<?> program = loader.loadClass(args[2]);
      String[] rest = Arrays.copyOfRange(args, 3, args.length);
      program.getMethod("main", String[].class).invoke(null, (Object) rest);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
    System.out.println("{\"step\":\"constants changed\",\"value\":\"" + String.join(" ", CHANGED) + "\"}");
  }

  private static URL[] path(File jars, File classes) throws MalformedURLException {
    File[] files = jars.listFiles((directory, name) -> name.endsWith(".jar"));
    if (files == null) throw new IllegalArgumentException(jars + " is no directory of jars");
    URL[] path = new URL[files.length + 1];
    for (int i = 0; i < files.length; i++) path[i] = files[i].toURI().toURL();
    path[files.length] = classes.toURI().toURL();
    return path;
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    if (!name.startsWith(SDK)) return super.findClass(name);
    try (InputStream stream = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (stream == null) throw new ClassNotFoundException(name);
      byte[] bytes = withOurMethod(name, stream.readAllBytes());
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException thrown) {
      throw new ClassNotFoundException(name, thrown);
    }
  }

  /** The class file with the constant replaced in its pool (JVM specification, 4.4); all that follows the pool is copied. */
  private static byte[] withOurMethod(String name, byte[] original) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(original));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(original.length);
    DataOutputStream out = new DataOutputStream(bytes);
    out.write(in.readNBytes(8));
    int count = in.readUnsignedShort();
    out.writeShort(count);
    for (int i = 1; i < count; i++) {
      int tag = in.readUnsignedByte();
      out.writeByte(tag);
      if (tag == 1) {
        String text = in.readUTF();
        if (text.equals(THEIRS)) CHANGED.add(name.substring(SDK.length()));
        out.writeUTF(text.equals(THEIRS) ? OURS : text);
      } else {
        out.write(in.readNBytes(sizeOf(tag)));
        // A long or a double takes two places of the pool.
        if (tag == 5 || tag == 6) i++;
      }
    }
    out.write(in.readAllBytes());
    return bytes.toByteArray();
  }

  /** Bytes that follow a tag of the pool. */
  private static int sizeOf(int tag) throws IOException {
    switch (tag) {
      case 7: case 8: case 16: case 19: case 20: return 2;
      case 15: return 3;
      case 3: case 4: case 9: case 10: case 11: case 12: case 17: case 18: return 4;
      case 5: case 6: return 8;
      default: throw new IOException("a constant of an unknown tag: " + tag);
    }
  }
}
