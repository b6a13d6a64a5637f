// ImageLocality: prefers nodes that already have the pod's images. Images on few nodes count less.
import { defineSchedulerPlugin, scoreMax } from '../framework/framework.ts'
import type { NodeColumn } from '../snapshot/node-columns.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'

const bytesMin = 23 << 20
const bytesMaxPerContainer = 1000 * (1 << 20)

interface Images {
  /** For each image of the pod: its size on a node, and the share of nodes that have it. */
  readonly images: readonly { readonly bytes: NodeColumn; readonly spread: number }[]
  readonly containerCount: number
}

export const imageLocality = defineSchedulerPlugin<never, Images>({
  name: 'ImageLocality',
  weight: 1,
  preScore({ pod: { spec }, snapshot }) {
    const containers = [...(spec.initContainers ?? []), ...spec.containers]
    const images = containers.map(({ image = '' }) => imageOf(snapshot, withTag(image)))
    if (images.every(({ spread }) => spread === 0)) return undefined
    return { images, containerCount: containers.length }
  },
  score(_cycle, slot, { images, containerCount }) {
    let sum = 0
    for (const { bytes, spread } of images) sum += Math.trunc(bytes.at(slot) * spread)
    const most = bytesMaxPerContainer * containerCount
    const bounded = Math.min(Math.max(sum, bytesMin), most)
    return Math.floor((scoreMax * (bounded - bytesMin)) / (most - bytesMin))
  },
})

function imageOf(snapshot: Snapshot, image: string): Images['images'][number] {
  const bytes = snapshot.columns.of(`image ${image}`, ({ status }) =>
    Number(status.images?.find(({ names }) => names?.includes(image))?.sizeBytes ?? 0),
  )
  return { bytes, spread: snapshot.size === 0 ? 0 : bytes.positives(snapshot.order) / snapshot.size }
}

const withTag = (image: string): string => (image.lastIndexOf(':') > image.lastIndexOf('/') ? image : `${image}:latest`)
