// Manifest sources of the host: a directory and a URL.
import { watch } from 'node:fs'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/time/clock.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import { relistMs, type Manifest, type ManifestSource } from './manifest-source.ts'

const manifestBytesMax = 10 * 1024 * 1024
/** Changes are collected for this time, because writing a file causes several events. */
const settleMs = 100

/** All files except hidden ones; subdirectories are ignored. */
export function manifestDirectorySource(path: string, clock: Clock): ManifestSource {
  return {
    kind: 'file',
    async list() {
      await mkdir(path, { recursive: true })
      const found: Manifest[] = []
      for (const name of (await readdir(path)).toSorted()) {
        const file = join(path, name)
        const kind = name.startsWith('.') ? undefined : await stat(file).catch(() => undefined)
        if (kind?.isFile() && kind.size <= manifestBytesMax)
          found.push({ name: file, text: await readFile(file, 'utf8') })
      }
      return found
    },
    async waitForChange(signal) {
      const changed = Promise.withResolvers<void>()
      const watcher = watch(path, () => changed.resolve())
      watcher.on('error', () => changed.resolve())
      const timer = clock.after(relistMs, () => changed.resolve())
      const abort = () => changed.resolve()
      signal.addEventListener('abort', abort, { once: true })
      await changed.promise
      signal.removeEventListener('abort', abort)
      timer.cancel()
      watcher.close()
      await clock.sleep(settleMs, signal)
    },
  }
}

export interface ManifestUrlDeps {
  readonly outbound: Pick<OutboundProvider, 'exchange'>
  readonly clock: Clock
  /** How often the URL is read. */
  readonly everyMs: number
}

export function manifestUrlSource(
  url: string,
  headers: Readonly<Record<string, string>>,
  { outbound, clock, everyMs }: ManifestUrlDeps,
): ManifestSource {
  const { origin, pathname, search } = new URL(url)
  return {
    kind: 'http',
    async list(signal) {
      const request = { method: 'GET', target: `${pathname}${search}`, headers }
      const response = await outbound.exchange({ origin, tls: {} }, request, signal)
      if (response.kind !== 'answer' || response.status !== 200)
        throw new Error(`${url}: ${response.kind === 'answer' ? response.status : 'not HTTP'}`)
      let text = ''
      const decoder = new TextDecoder()
      for await (const piece of response.body) {
        text += decoder.decode(piece, { stream: true })
        if (text.length > manifestBytesMax) throw new Error(`${url}: more than ${manifestBytesMax} bytes`)
      }
      return [{ name: url, text }]
    },
    waitForChange: (signal) => clock.sleep(everyMs, signal),
  }
}
