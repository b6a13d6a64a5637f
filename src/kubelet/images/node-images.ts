// The images in the node's status, which the scheduler uses for image locality: the largest ones, as upstream.
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'

const imagesMax = 50
const namesMax = 5

export interface NodeImage {
  readonly names: readonly string[]
  readonly sizeBytes: number
}

/** Images of simulated runtimes have no size and are left out. */
export async function nodeImages(runtime: Pick<ContainerRuntime, 'images'>, signal: AbortSignal): Promise<NodeImage[]> {
  const images = await runtime.images(signal)
  return images
    .filter(({ sizeBytes }) => sizeBytes > 0)
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, imagesMax)
    .map(({ digests, tags, sizeBytes }) => ({ names: [...digests, ...tags].slice(0, namesMax), sizeBytes }))
}
