// Where the program's own files are: its threads and the files of the web page. It runs from the sources, from a bundle,
// whose files are in one folder, or as an executable, in which Node.js mounts the bundle as a virtual file system.

const isSource = (module: string): boolean => module.endsWith('.ts')

/** The module of a thread, in the folder of the module that starts it. */
export const threadModule = (name: string, beside: string): URL =>
  new URL(`./${name}${isSource(beside) ? '.ts' : '.mjs'}`, beside)

/** The folder with the files of the web page. A checkout has built it. */
export const pageFolder = (own = import.meta.url): URL => new URL(isSource(own) ? '../../../dist/ui/' : './ui/', own)
