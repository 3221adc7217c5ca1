import static java.util.stream.Collectors.toList;

import java.nio.file.Path;
import java.util.Map;
import org.elastos.did.DID;
import org.elastos.did.DIDBackend;
import org.elastos.did.DIDDocument;
import org.elastos.did.DIDURL;
import org.elastos.did.Issuer;
import org.elastos.did.Mnemonic;
import org.elastos.did.TransferTicket;
import org.elastos.did.VerifiableCredential;
import org.elastos.did.VerifiablePresentation;
import org.elastos.did.crypto.HDKey;

/**
 * The life of customised DIDs as the Java SDK has it, against a node. Arguments: those of {@link Devnet}, and the name of a DID that
 * another SDK made.
 */
public final class CustomisedLife {
  private static final String PASSWORD = Person.PASSWORD;

  private final Person ada;
  private final Person bob;
  private final Person cyd;
  private final Person dan;

  private CustomisedLife(Path directory) throws Exception {
    ada = new Person(directory.resolve("ada"));
    bob = new Person(directory.resolve("bob"));
    cyd = new Person(directory.resolve("cyd"));
    dan = new Person(directory.resolve("dan"));
  }

  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[4]);
    DIDBackend.initialize(new Devnet(args[0], args[1], args[2], args[3], directory));
    CustomisedLife life = new CustomisedLife(directory);
    life.oneController();
    life.credentials();
    life.twoOfThree();
    life.transferToOne();
    life.transferToTwo();
    life.namesTaken();
    life.ends();
    life.controllerLeaves();
    life.remains();
    life.reads(named(args[5]));
  }

  private static DID named(String name) {
    return new DID("did:ledger:" + name);
  }

  private static DIDDocument onChain(DID did) throws Exception {
    return did.resolve(true);
  }

  private void oneController() throws Exception {
    DIDDocument shop = ada.document.newCustomizedDid(named("shop"), PASSWORD);
    shop.publish(PASSWORD);
    DIDDocument resolved = onChain(named("shop"));
    Report.of("shop is created", resolved.isValid() && resolved.toString(true).equals(shop.toString(true)));

    DIDDocument.Builder change = ada.store.loadDid(named("shop")).edit();
    addKey(ada, change, new DIDURL(named("shop"), "#own"));
    change.addService("#home", "LinkedDomains", "https://shop.example");
    publish(ada, change.seal(PASSWORD), ada.document.getDefaultPublicKeyId());
    resolved = onChain(named("shop"));
    Report.of("shop is updated", resolved.isValid() && resolved.getServiceCount() == 1);

    DIDDocument.Builder more = ada.store.loadDid(named("shop")).edit();
    more.addService("#help", "Help", "https://help.example");
    publish(ada, more.seal(PASSWORD), new DIDURL(named("shop"), "#own"));
    Report.of("shop is updated by its own key", onChain(named("shop")).getServiceCount() == 2);
  }

  private static void publish(Person person, DIDDocument document, DIDURL key) throws Exception {
    person.store.storeDid(document);
    document.publish(key, PASSWORD);
  }

  /** Adds a new key to a customised DID; its private key goes into the store of the person. */
  private static void addKey(Person person, DIDDocument.Builder change, DIDURL id) throws Exception {
    HDKey key = new HDKey(Mnemonic.getInstance().generate(), "");
    change.addAuthenticationKey(id, key.getPublicKeyBase58());
    person.store.storePrivateKey(id, key.serialize(), PASSWORD);
  }

  private static VerifiableCredential issued(Person by, String name, DIDURL key, DIDURL id) throws Exception {
    return new Issuer(by.store.loadDid(named(name)), key)
        .issueFor(id.getDid())
        .id(id)
        .type("MemberCredential", "https://shop.example/credentials")
        .properties(Map.of("level", 1))
        .seal(PASSWORD);
  }

  private static DIDURL idOf(DID did, String name) {
    return new DIDURL(did, "#" + name);
  }

  private void credentials() throws Exception {
    DIDURL own = new DIDURL(named("shop"), "#own");
    DIDURL controllers = ada.document.getDefaultPublicKeyId();
    DIDURL subjects = bob.document.getDefaultPublicKeyId();
    VerifiableCredential card = issued(ada, "shop", own, idOf(bob.did, "card"));
    bob.store.storeCredential(card);
    card.declare(subjects, PASSWORD);
    VerifiableCredential found = VerifiableCredential.resolve(card.getId(), named("shop"), true);
    Report.of(
        "a credential by the own key is declared by its subject, and resolved",
        card.wasDeclared() && card.isValid() && found.toString(true).equals(card.toString(true)));

    DIDDocument shop = ada.store.loadDid(named("shop"));
    Report.refusal(
        "a revoke in the name of shop by the key of its controller",
        () -> VerifiableCredential.revoke(card.getId(), shop, controllers, PASSWORD));
    Report.of("the credential is valid after that", !card.isRevoked() && card.isValid());
    VerifiableCredential.revoke(card.getId(), shop, own, PASSWORD);
    Report.of("a revoke by the own key ends it", card.isRevoked() && !card.isValid());

    VerifiableCredential pass = issued(ada, "shop", controllers, idOf(bob.did, "pass"));
    bob.store.storeCredential(pass);
    pass.declare(subjects, PASSWORD);
    Report.of("a credential by the key of the controller is declared, and valid", pass.wasDeclared() && pass.isValid());
    pass.revoke(bob.document, PASSWORD);
    Report.of("its subject revokes it", pass.isRevoked() && !pass.isValid());

    VerifiableCredential licence = issued(ada, "shop", own, idOf(named("shop"), "licence"));
    ada.store.storeCredential(licence);
    licence.declare(own, PASSWORD);
    Report.of("shop declares a credential about itself by its own key", licence.wasDeclared() && licence.isValid());
    Report.of(
        "credentials that shop holds",
        VerifiableCredential.list(named("shop")).stream().map(DIDURL::toString).collect(toList()));

    VerifiablePresentation shown =
        VerifiablePresentation.createFor(named("shop"), own, ada.store)
            .credentials(licence)
            .realm("https://market.example")
            .nonce("1")
            .seal(PASSWORD);
    Report.of("shop presents it by its own key", VerifiablePresentation.parse(shown.toString(true)).isValid());
  }

  private void twoOfThree() throws Exception {
    DID name = named("club");
    DIDDocument half = cyd.begin(name, 2, false, ada, bob);
    Report.refusal("a document with one of two signatures", () -> cyd.receive(half).publish(PASSWORD));
    bob.sign(half).publish(PASSWORD);
    DIDDocument club = onChain(name);
    Report.of("club is created by two of three", club.isValid() && club.getControllerCount() == 3);

    DIDDocument.Builder change = ada.receive(club).edit(ada.document);
    change.addService("#chat", "Chat", "https://club.example");
    // The SDK publishes an update that another controller began only with force.
    cyd.sign(change.seal(PASSWORD)).publish((DIDURL) null, true, PASSWORD);
    club = onChain(name);
    Report.of("club is updated by two others", club.isValid() && club.getServiceCount() == 1);
  }

  private void transferToOne() throws Exception {
    DID name = named("club");
    VerifiableCredential card = issued(ada, "club", ada.document.getDefaultPublicKeyId(), idOf(dan.did, "member"));
    Report.of("club issues a credential by the key of a controller", card.isValid());

    TransferTicket ticket = bob.document.createTransferTicket(name, dan.did, PASSWORD);
    Report.of("a ticket with one of two signatures is valid", ticket.isValid());
    TransferTicket full = cyd.document.sign(TransferTicket.parse(ticket.toString(true)), PASSWORD);
    Report.of("a ticket with two of two signatures is valid", full.isValid());
    DIDDocument alone = dan.document.newCustomizedDid(name, true, PASSWORD);
    Report.refusal("a transfer by a ticket with one of two signatures", () -> alone.publish(ticket, PASSWORD));
    alone.publish(TransferTicket.parse(full.toString(true)), PASSWORD);
    DIDDocument club = onChain(name);
    Report.of(
        "club is transferred to one controller",
        club.isValid() && club.getControllerCount() == 1 && club.getController().equals(dan.did));
    Report.of("a credential by the key of a controller of before is valid", card.isValid());
    Report.refusal("the same ticket again", () -> alone.publish(full, PASSWORD));
  }

  private void transferToTwo() throws Exception {
    DID name = named("club");
    TransferTicket ticket = dan.document.createTransferTicket(name, ada.did, PASSWORD);
    DIDDocument half = ada.begin(name, 2, true, bob);
    // The SDK lets this one out.
    Report.refusal(
        "a transfer to two with one of two signatures", () -> ada.receive(half).publish(ticket, PASSWORD));
    ada.receive(bob.sign(half)).publish(TransferTicket.parse(ticket.toString(true)), PASSWORD);
    DIDDocument club = onChain(name);
    Report.of("club is transferred to two controllers", club.isValid() && club.getControllerCount() == 2);
    Report.of(
        "biography of club",
        name.resolveBiography().getAllTransactions().stream()
            .map((one) -> one.getRequest().getOperation().toString())
            .collect(toList()));
  }

  private void namesTaken() throws Exception {
    for (String name : new String[] {"Loud", "shop"})
      Report.refusal(
          name + " by bob", () -> bob.document.newCustomizedDid(named(name), true, PASSWORD).publish(PASSWORD));
    Report.of("shop is still of ada", onChain(named("shop")).getController().equals(ada.did));
  }

  private void ends() throws Exception {
    ada.document.deactivate(named("shop"), PASSWORD);
    DIDDocument shop = onChain(named("shop"));
    Report.of("shop is deactivated", shop.isDeactivated() && !shop.isValid());
    bob.document.deactivate(named("club"), PASSWORD);
    Report.of("club is deactivated by one of two", onChain(named("club")).isDeactivated());
    Report.refusal(
        "a deactivated name again",
        () -> dan.document.newCustomizedDid(named("shop"), true, PASSWORD).publish(PASSWORD));
  }

  /** A DID of two controllers of whom one has ended their own DID, after all else that needs dan. */
  private void controllerLeaves() throws Exception {
    DID name = named("crew");
    DIDDocument crew = ada.begin(name, 1, false, dan);
    ada.receive(crew).publish(PASSWORD);
    Report.of("crew is created by one of two", onChain(name).isValid());
    dan.document.deactivate(PASSWORD);
    crew = onChain(name);
    Report.of("crew is valid without the DID of dan", crew.isValid());
    Report.of("crew is genuine without the DID of dan", crew.isGenuine());
    ada.document.deactivate(name, PASSWORD);
    Report.of("crew is deactivated by the controller that is left", onChain(name).isDeactivated());
  }

  /** A DID that stays, and its parts, for others to read. */
  private void remains() throws Exception {
    DID name = named("guild");
    DIDDocument.Builder builder = ada.begin(name, 2, false, bob, cyd).edit(ada.document);
    addKey(ada, builder, new DIDURL(name, "#work"));
    bob.sign(builder.seal(PASSWORD)).publish(PASSWORD);
    DIDDocument guild = onChain(name);
    Report.of("guild is created with an own key", guild.isValid());
    Report.of("text of guild", guild.toString(true));
    Report.of("controllers of guild", guild.getControllers().stream().map(DID::toString).collect(toList()));
  }

  /** A DID that another SDK made. */
  private void reads(DID name) throws Exception {
    DIDDocument document = onChain(name);
    Report.of("the DID of the other SDK is valid", document.isValid());
    Report.of("text of the other SDK", document.toString(true));
  }
}
