// A registry of images on the loopback address of this machine, for pushes by its users and pulls by its nodes.
import { mkdir } from 'node:fs/promises'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { lockDirectory } from '../data-directory/directory-lock.ts'
import { ImageStore } from './image-store.ts'
import { RegistryHandler } from './registry-handler.ts'

export interface RegistryOptions {
  readonly folder: string
  /** 0: any free one. */
  readonly port: number
  readonly bytesMax: number
}

export interface Registry extends AsyncDisposable {
  /** The prefix of the names of its images: `localhost:5001`. */
  readonly host: string
}

const drainMs = 5_000
const addresses = ['localhost', '127.0.0.1', '[::1]']

export async function openRegistry({ folder, port, bytesMax }: RegistryOptions): Promise<Registry> {
  const { files, listeners } = nodePlatform
  await using opening = new AsyncDisposableStack()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  opening.use(await lockDirectory(folder))
  const store = await ImageStore.open({ folder, bytesMax }, { files, clock: realClock, random: systemRandom })
  let handler: RegistryHandler | undefined
  const listener = await listeners.listen({
    host: '127.0.0.1',
    port,
    compresses: false,
    // The port is known when it listens.
    handle: (request) => (handler ??= new RegistryHandler(store, hostsOf(listener.port))).handle(request),
  })
  opening.defer(() => listener.close(drainMs))
  const opened = opening.move()
  return { host: `localhost:${listener.port}`, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const hostsOf = (port: number): readonly string[] => addresses.map((address) => `${address}:${port}`)
