// importImages: loads one archive of images into a containerd.
import type { Clock } from '../../base/time/clock.ts'
import type { CriRuntime } from '../../machine/cri/cri-runtime.ts'
import type { Ctr } from '../../machine/cri/ctr.ts'
import { importArchive } from '../../machine/cri/image-archives.ts'

export interface ImportDeps {
  readonly runtime: Pick<CriRuntime, 'findImage'>
  readonly ctr: Ctr
  readonly snapshotter: string
  readonly clock: Clock
}

/** containerd's CRI plugin learns of an image some time after the import. */
const knownMsMax = 30_000
const pollMs = 50

/** Returns the names of the images once pods can use them. */
export async function importImages(
  file: string,
  { runtime, ctr, snapshotter, clock }: ImportDeps,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const names = await importArchive(file, snapshotter, ctr, signal)
  if (names.length === 0) throw new Error(`${file} holds no image for this machine`)
  const endMs = clock.monotonicMs() + knownMsMax
  for (const name of names)
    while ((await runtime.findImage(name, signal)) === undefined) {
      if (clock.monotonicMs() > endMs) throw new Error(`${name} was imported, but the runtime does not list it`)
      await clock.sleep(pollMs, signal)
    }
  return names
}
