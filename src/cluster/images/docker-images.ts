// Images of the Docker daemon of this machine, over its Engine API, which Podman serves as well. They are saved as an archive.
import { createWriteStream } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'

export interface DockerDaemon {
  readonly socketPath: string
}

const unixScheme = 'unix://'
const socketDefault = '/var/run/docker.sock'
/** Older daemons write the whole archive to their disk before they send its first byte. */
const silenceMsMax = 300_000
const errorBytesMax = 64 << 10
const referenceCharactersMax = 1_000

/** The daemon of `DOCKER_HOST`, or the default one. */
export function dockerDaemon({ DOCKER_HOST: host }: Readonly<Record<string, string | undefined>>): DockerDaemon {
  if (host === undefined || host === '') return { socketPath: socketDefault }
  const socketPath = host.startsWith(unixScheme) ? host.slice(unixScheme.length) : ''
  if (!socketPath.startsWith('/'))
    throw new Error(
      `DOCKER_HOST ${host} is not a Unix socket (unix:///path); use: docker save <image> | coxswain image load -`,
    )
  return { socketPath }
}

/** Whether a text may be the name of an image: `nginx:1.27`, `localhost:5001/app`, `app@sha256:…`, or an id. */
export const isImageReference = (text: string): boolean =>
  /^[a-z0-9][\w.:/@-]*$/i.test(text) && text.length <= referenceCharactersMax

/** Writes the images, as `docker save` does, to a file that does not exist yet. */
export async function saveDockerImages(
  { socketPath }: DockerDaemon,
  images: readonly string[],
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const query = new URLSearchParams(images.map((image) => ['names', image]))
  const response = await requested(socketPath, `/images/get?${query}`, signal)
  if (response.statusCode !== 200) throw new Error(await refusalOf(response, images))
  try {
    await pipeline(response, createWriteStream(file, { flags: 'wx', mode: 0o600 }), { signal })
  } catch (cause) {
    signal.throwIfAborted()
    throw new Error(`Docker has not sent all of ${images.join(', ')}`, { cause })
  }
}

const requested = (socketPath: string, path: string, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, headers: { host: 'docker' }, signal, timeout: silenceMsMax })
    sent.on('timeout', () => sent.destroy(new Error(`no data for ${silenceMsMax / 1_000} s`)))
    sent.on('response', resolve)
    sent.on('error', (cause: NodeJS.ErrnoException) => {
      if (signal.aborted) reject(signal.reason as Error)
      else reject(new Error(unreachableText(socketPath, cause), { cause }))
    })
    sent.end()
  })

function unreachableText(socketPath: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'EACCES') return `the Docker daemon at ${socketPath} may not be used by this user`
  if (code !== 'ENOENT' && code !== 'ECONNREFUSED')
    return `the Docker daemon at ${socketPath} does not answer: ${message}`
  const other =
    'set DOCKER_HOST (with sudo: sudo --preserve-env=DOCKER_HOST …), or load an archive that docker save wrote'
  return `no Docker daemon runs at ${socketPath}; start it, ${other}`
}

/** The message of an error response: `{"message":"…"}`. */
async function refusalOf(response: IncomingMessage, images: readonly string[]): Promise<string> {
  let text = ''
  for await (const piece of response) if (text.length < errorBytesMax) text += String(piece)
  let message: unknown
  try {
    message = (JSON.parse(text) as { readonly message?: unknown } | null)?.message
  } catch {
    // Not from Docker.
  }
  const reason = typeof message === 'string' ? message : `status ${response.statusCode}`
  return `Docker cannot save ${images.join(', ')}: ${reason}; docker images lists what it has`
}
