/** Styles that the build puts into the page. */
declare module '*.css'
