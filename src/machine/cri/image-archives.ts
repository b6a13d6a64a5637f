// Imports image archives, as written by `docker save`, `podman save` and image builders, into the node's runtime.
import type { Ctr } from './ctr.ts'

/** Returns the names of the imported images: `docker.io/library/app:1`. */
export async function importArchive(
  file: string,
  snapshotter: string,
  ctr: Ctr,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return importedNames(await ctr(['images', 'import', '--snapshotter', snapshotter, file], signal))
}

/** One line per image: `unpacking docker.io/library/app:1 (sha256:…)...done`. */
export const importedNames = (printed: string): readonly string[] =>
  printed.split('\n').flatMap((line) => /^unpacking (\S+) \(sha256:/.exec(line)?.[1] ?? [])
