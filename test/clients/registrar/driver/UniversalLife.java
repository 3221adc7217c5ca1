import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import uniregistrar.RegistrationException;
import uniregistrar.local.LocalUniRegistrar;
import uniregistrar.openapi.model.CreateRequest;
import uniregistrar.openapi.model.DeactivateRequest;
import uniregistrar.openapi.model.RegistrarState;
import uniregistrar.openapi.model.UpdateRequest;
import uniregistrar.util.HttpBindingUtil;

/**
 * The life of a DID through the Universal Registrar, configured as its operators do it: the classes behind its web service read requests of
 * clients, and its HTTP driver asks the registrar at a URL. Prints the state after each step as a line of JSON.
 */
public final class UniversalLife {
    private static final ObjectMapper json = new ObjectMapper();
    private final LocalUniRegistrar registrar;
    private final KeyPair key;

    private UniversalLife(LocalUniRegistrar registrar, KeyPair key) {
        this.registrar = registrar;
        this.key = key;
    }

    public static void main(String[] args) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        for (String withMethod : List.of("false", "true")) {
            Map<String, Object> driver =
                    Map.of("method", "ledger", "url", args[0], "includeMethodParameter", withMethod);
            Path file = Files.createTempFile(Path.of(args[1]), "drivers", ".json");
            json.writeValue(file.toFile(), Map.of("drivers", List.of(driver)));
            LocalUniRegistrar registrar = LocalUniRegistrar.fromConfigFile(file.toString());
            new UniversalLife(registrar, generator.generateKeyPair()).live();
        }
    }

    private void live() throws Exception {
        Map<String, Object> options = Map.of("clientSecretMode", true, "storeSecrets", false, "returnSecrets", false);
        Map<String, Object> method = Map.of("id", "#primary", "type", "JsonWebKey", "publicKeyJwk", jwk());
        Map<String, Object> document = Map.of(
                "@context", List.of("https://www.w3.org/ns/did/v1"),
                "verificationMethod", List.of(method), "authentication", List.of("#primary"));
        String did = (String) didState(go("create", Map.of("options", options, "didDocument", document))).get("did");
        Map<String, Object> site =
                Map.of("id", "#site", "type", "LinkedDomains", "serviceEndpoint", "https://example.org");
        Map<String, Object> changes = Map.of("service", List.of(site));
        go("update", Map.of("did", did, "options", options,
                "didDocumentOperation", List.of("addToDidDocument"), "didDocument", List.of(changes)));
        go("update", Map.of("did", did, "didDocument", List.of(Map.of("nonsense", 1))));
        go("create", Map.of("jobId", "none"));
        go("create", Map.of("options", Map.of("storeSecrets", true), "didDocument", document));
        go("deactivate", Map.of("did", did, "options", options, "secret", Map.of()));
        go("deactivate", Map.of("did", did));
    }

    /** One registration to its end: signs what it is asked to, and waits where it is told to. */
    private Map<String, Object> go(String kind, Map<String, Object> request) throws Exception {
        Map<String, Object> state = ask(kind, request);
        while (state.get("jobId") != null) {
            Map<String, Object> next = new LinkedHashMap<>();
            next.put("jobId", state.get("jobId"));
            if (request.containsKey("did")) next.put("did", request.get("did"));
            Map<String, Object> asked = map(didState(state).get("signingRequest"));
            if (asked == null) Thread.sleep(((Number) didState(state).get("waitTime")).longValue());
            else next.put("secret", Map.of("signingResponse", signed(asked)));
            state = ask(kind, next);
        }
        System.out.println(json.writeValueAsString(Map.of("kind", kind, "state", state)));
        return state;
    }

    /** The request as the web service reads it from a body, and the state as it writes it into one. */
    private Map<String, Object> ask(String kind, Map<String, Object> request) throws Exception {
        String body = json.writeValueAsString(request);
        RegistrarState state;
        try {
            state = switch (kind) {
                case "create" -> registrar.create("ledger", HttpBindingUtil.fromHttpBodyRequest(body, CreateRequest.class));
                case "update" -> registrar.update("ledger", HttpBindingUtil.fromHttpBodyRequest(body, UpdateRequest.class));
                default -> registrar.deactivate("ledger", HttpBindingUtil.fromHttpBodyRequest(body, DeactivateRequest.class));
            };
        } catch (RegistrationException refused) {
            state = refused.toErrorRegistrarState();
        }
        return HttpBindingUtil.fromHttpBodyMap(HttpBindingUtil.toHttpBodyState(state));
    }

    private Map<String, Object> signed(Map<String, Object> asked) throws Exception {
        Map<String, Object> signatures = new LinkedHashMap<>();
        for (Map.Entry<String, Object> one : asked.entrySet()) {
            Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
            signature.initSign(key.getPrivate());
            signature.update(Base64.getDecoder().decode((String) map(one.getValue()).get("serializedPayload")));
            signatures.put(one.getKey(), Map.of("signature", Base64.getEncoder().encodeToString(signature.sign())));
        }
        return signatures;
    }

    private Map<String, Object> jwk() {
        ECPublicKey point = (ECPublicKey) key.getPublic();
        return Map.of("kty", "EC", "crv", "P-256",
                "x", coordinate(point.getW().getAffineX().toByteArray()),
                "y", coordinate(point.getW().getAffineY().toByteArray()));
    }

    /** 32 bytes of a number that Java writes with a sign, and without leading zeros. */
    private static String coordinate(byte[] number) {
        byte[] bytes = new byte[32];
        int length = Math.min(32, number.length);
        System.arraycopy(number, number.length - length, bytes, 32 - length, length);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static Map<String, Object> didState(Map<String, Object> state) {
        return map(state.get("didState"));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }
}
