import { deepEqual, rejects } from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import { relistMs } from './manifest-source.ts'
import { manifestUrlSource, manifestDirectorySource } from './node-manifests.ts'

const { signal } = new AbortController()

test('a directory: all files except hidden ones, and every change', async () => {
  const path = await mkdtemp(join(tmpdir(), 'coxswain-manifests-'))
  const source = manifestDirectorySource(path, realClock)
  await writeFile(join(path, '.hidden'), 'x')
  await mkdir(join(path, 'directory'))
  deepEqual(await source.list(signal), [])
  const notified = source.waitForChange(signal)
  await writeFile(join(path, 'a.yaml'), 'kind: Pod')
  await notified
  deepEqual(await source.list(signal), [{ name: join(path, 'a.yaml'), text: 'kind: Pod' }])
  await rm(path, { recursive: true })
})

test('a URL: its response, read again after the interval', async () => {
  const clock = new VirtualClock(0)
  const asked: string[] = []
  const exchange: OutboundProvider['exchange'] = ({ origin }, { target }) => {
    asked.push(`${origin}${target}`)
    const body = (async function* () {
      yield new TextEncoder().encode('kind: Pod')
    })()
    return Promise.resolve({ kind: 'answer', status: asked.length === 1 ? 200 : 503, headers: {}, body })
  }
  const source = manifestUrlSource(
    'http://192.0.2.1/pods?x=1',
    {},
    { outbound: { exchange }, clock, everyMs: relistMs },
  )
  deepEqual(await source.list(signal), [{ name: 'http://192.0.2.1/pods?x=1', text: 'kind: Pod' }])
  const again = source.waitForChange(signal)
  await clock.advance(relistMs)
  await again
  await rejects(source.list(signal), /503/)
  deepEqual(asked, ['http://192.0.2.1/pods?x=1', 'http://192.0.2.1/pods?x=1'])
})
