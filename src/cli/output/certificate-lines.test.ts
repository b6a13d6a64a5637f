import { deepEqual, rejects } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { certificateLines, expiryLines } from './certificate-lines.ts'

const nowMs = Date.UTC(2030, 0, 10, 12)
const deadKubeconfig = `
current-context: x
contexts: [{ name: x, context: { cluster: x, user: x } }]
clusters: [{ name: x, cluster: { server: 'https://127.0.0.1:1' } }]
users: [{ name: x, user: {} }]`

const expiries: [name: string, notAfterMs: number, line: string][] = [
  ['ca', Date.UTC(2030, 0, 10, 11), 'ca         until 2030-01-10, EXPIRED'],
  ['admin', Date.UTC(2030, 0, 11, 11), 'admin      until 2030-01-11, 0 days left'],
  ['apiserver', Date.UTC(2031, 0, 10, 12), 'apiserver  until 2031-01-10, 365 days left'],
]

test('certificates as lines: the day, and how many days are left', () => {
  deepEqual(
    expiryLines(
      expiries.map(([name, notAfterMs]) => ({ name, notAfterMs })),
      nowMs,
    ),
    expiries.map(([, , line]) => line),
  )
  deepEqual(expiryLines([], nowMs), [])
})

test('without a server that answers, the files of the data directory are read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-certificates-'))
  try {
    const { signal } = new AbortController()
    deepEqual(await certificateLines(directory, undefined, nowMs, signal), [])
    deepEqual(await certificateLines(directory, deadKubeconfig, nowMs, signal), [])
    await rejects(certificateLines(directory, deadKubeconfig, nowMs, AbortSignal.abort()), { name: 'AbortError' })
  } finally {
    await rm(directory, { recursive: true })
  }
})
