// SimulatedImages: the images of a simulated runtime, and what their containers do.
import { lookup } from '../../base/collections/lookup.ts'
import { ImageNotFound, type RuntimeImage } from './container-runtime.ts'
import type { SimulatedBehaviour } from './simulated-behaviour.ts'
import { imageIdOf } from './simulated-container.ts'
import type { SimulatedProgram } from './simulated-process.ts'

/** Programs or behaviours by image; `missing` images cannot be pulled. Other images serve until they are stopped. */
export type SimulatedPrograms = Readonly<Record<string, SimulatedProgram | SimulatedBehaviour | 'missing'>>

export class SimulatedImages {
  readonly #programs: SimulatedPrograms | undefined
  readonly #pulled = new Map<string, RuntimeImage>()

  constructor(programs: SimulatedPrograms | undefined) {
    this.#programs = programs
  }

  get all(): readonly RuntimeImage[] {
    return [...this.#pulled.values()]
  }

  get usedBytes(): number {
    return this.all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  find(image: string): RuntimeImage | undefined {
    return this.#pulled.get(image)
  }

  /** Returns the id of the image. */
  add(image: string): string {
    if (lookup(this.#programs, image) === 'missing')
      throw new ImageNotFound(`image ${JSON.stringify(image)} does not exist`)
    const id = imageIdOf(image)
    this.#pulled.set(image, { id, tags: [image], digests: [], sizeBytes: 0, uid: 0, username: '' })
    return id
  }

  remove(id: string): void {
    for (const [name, image] of this.#pulled) if (image.id === id) this.#pulled.delete(name)
  }

  programOf(image: string): SimulatedProgram | undefined {
    const known = lookup(this.#programs, image)
    return typeof known === 'function' ? known : undefined
  }

  behaviourOf(image: string): SimulatedBehaviour {
    const known = lookup(this.#programs, image)
    return typeof known === 'object' ? known : {}
  }
}
