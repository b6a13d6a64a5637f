// Image archives, as `docker save`, `podman save` and builders write them, become images of a node.
import type { Ctr } from './ctr.ts'

/** Returns the names that the images are known by: `docker.io/library/app:1`. */
export async function importArchive(
  file: string,
  snapshotter: string,
  ctr: Ctr,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return importedNames(await ctr(['images', 'import', '--snapshotter', snapshotter, file], signal))
}

/** A line for each image: `unpacking docker.io/library/app:1 (sha256:…)...done`. */
export const importedNames = (printed: string): readonly string[] =>
  printed.split('\n').flatMap((line) => /^unpacking (\S+) \(sha256:/.exec(line)?.[1] ?? [])
