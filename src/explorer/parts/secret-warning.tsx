/** Tells that a text was not looked for. */
export function SecretWarning() {
  return (
    <p class="notice" role="alert">
      These look like the words of a wallet. They were not looked for: nothing was sent to the node or kept. Who has
      them has the wallet, so clear them from where you copied them to.
    </p>
  )
}
