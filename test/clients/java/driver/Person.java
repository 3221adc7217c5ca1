import java.nio.file.Path;
import java.util.Arrays;
import org.elastos.did.DID;
import org.elastos.did.DIDDocument;
import org.elastos.did.DIDStore;
import org.elastos.did.Mnemonic;
import org.elastos.did.RootIdentity;

/** A person with a store and keys of their own, whose DID is on the chain. */
final class Person {
  static final String PASSWORD = "a password";

  final DIDStore store;
  final DIDDocument document;
  final DID did;

  Person(Path directory) throws Exception {
    store = DIDStore.open(directory.toString());
    RootIdentity identity = RootIdentity.create(Mnemonic.getInstance().generate(), "", store, PASSWORD);
    document = identity.newDid(PASSWORD);
    document.publish(PASSWORD);
    did = document.getSubject();
  }

  /** A document as it arrives from another controller, in this store, and for this person to sign with. */
  DIDDocument receive(DIDDocument sent) throws Exception {
    store.storeDid(DIDDocument.parse(sent.toString(true)));
    DIDDocument kept = store.loadDid(sent.getSubject());
    kept.setEffectiveController(did);
    return kept;
  }

  /** The document of another controller with this person's signature, in this store. */
  DIDDocument sign(DIDDocument sent) throws Exception {
    return receive(document.sign(DIDDocument.parse(sent.toString(true)), PASSWORD));
  }

  /** Begins a customised DID with others as controllers: the document that m of them sign. */
  DIDDocument begin(DID name, int needed, boolean force, Person... others) throws Exception {
    DID[] controllers = Arrays.stream(others).map((other) -> other.did).toArray(DID[]::new);
    return document.newCustomizedDid(name, controllers, needed, force, PASSWORD);
  }
}
