/**
 * Step that npm runs after an installation, and before a package is packed: builds the program if a source is newer.
 *
 * npx runs it too, at the first call of the checkout's program, and shows nothing of it: if this step fails, npx ends with its code and
 * without a word. A build there would also pull the files away from a running node. So npx runs the program as it was built last.
 */
if (process.env['npm_command'] !== 'exec') {
  const { tsImport } = await import('tsx/esm/api')
  await tsImport('./build-if-stale.ts', import.meta.url)
}
