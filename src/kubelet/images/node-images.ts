// The images that a node tells of, so that pods can be placed where theirs is: the largest, as upstream's kubelet does.
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'

const imagesMax = 50
const namesMax = 5

export interface NodeImage {
  readonly names: readonly string[]
  readonly sizeBytes: number
}

/** Those of simulated runtimes weigh nothing and are not told of. */
export async function nodeImages(runtime: Pick<ContainerRuntime, 'images'>, signal: AbortSignal): Promise<NodeImage[]> {
  const images = await runtime.images(signal)
  return images
    .filter(({ sizeBytes }) => sizeBytes > 0)
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, imagesMax)
    .map(({ digests, tags, sizeBytes }) => ({ names: [...digests, ...tags].slice(0, namesMax), sizeBytes }))
}
