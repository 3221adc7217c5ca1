/** Loads a module when it is first asked for; later ones who ask wait for nothing. */
function late<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => (loading ??= load())
}

/** Modules that few starts need. A simulation loads them before its time begins. */
export const lateModules = {
  buildMap: late(() => import('../storage/care/build-map.js')),
  countDays: late(() => import('./count-days.js')),
  takeHistory: late(() => import('./take-history.js')),
}
