// Which directories of the machine are removed.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { directoryRemover } from './host-directories.ts'

const links: Readonly<Record<string, string>> = { '/tmp/out': '/etc', '/tmp/short': '/tmp/run', '/data': '/tmp/stored' }

/** Nothing exists below /tmp/missing. */
function realPath(path: string): string | undefined {
  if (path.startsWith('/tmp/missing')) return undefined
  const link = Object.keys(links).find((each) => path === each || path.startsWith(`${each}/`))
  return link === undefined ? path : `${links[link]}${path.slice(link.length)}`
}

const rows: readonly (readonly [path: string, removed: string | RegExp | undefined])[] = [
  ['/tmp/volume', '/tmp/volume'],
  ['/tmp/volume//', '/tmp/volume'],
  ['/tmp/cluster-2', '/tmp/cluster-2'],
  ['/tmp/missing/volume', undefined],
  ['/tmp/run/cluster', /because Coxswain uses \/tmp\/run\/cluster$/],
  ['/tmp/run', /because Coxswain uses \/tmp\/run\/cluster$/],
  ['/tmp/run/cluster/node', /because Coxswain uses \/tmp\/run\/cluster$/],
  // Only the link is removed.
  ['/tmp/short', '/tmp/short'],
  ['/tmp/short/cluster', /because Coxswain uses \/tmp\/run\/cluster$/],
  ['/tmp/short/volume', '/tmp/run/volume'],
  ['/tmp/stored', /because Coxswain uses \/data$/],
  ['/tmp/stored/node', /because Coxswain uses \/data$/],
  ['/tmp/out', '/tmp/out'],
  ['/tmp/out/ssh', /because it leads to \/etc\/ssh$/],
  ['/tmp/../etc', /because it leads to \/etc$/],
  ['/tmp//', /because it leads to \/tmp$/],
]

for (const [path, removed] of rows)
  test(`${path} is ${removed === undefined || removed instanceof RegExp ? 'kept' : 'removed'}`, async () => {
    const calls: string[] = []
    const files = {
      realPath: async (each: string) => realPath(each),
      remove: async (each: string) => void calls.push(each),
    }
    const remove = directoryRemover(files, ['/tmp/run/cluster', '/data'])
    if (removed instanceof RegExp) await rejects(remove(path), removed)
    else await remove(path)
    deepEqual(calls, typeof removed === 'string' ? [removed] : [])
  })
