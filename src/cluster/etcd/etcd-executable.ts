// findEtcd: the etcd executable that runs a member: the newest of those on the PATH and of those that the setup fetched.
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Processes } from '../../platform/process/processes.ts'

export interface EtcdExecutable {
  readonly path: string
  /** `3.5.16`. */
  readonly version: string
}

/** etcd requires it on processors that its developers do not test; on others it has no effect. */
export const etcdEnvironment = {
  ETCD_UNSUPPORTED_ARCH: process.arch === 'x64' ? 'amd64' : process.arch,
} as const

/** The first version with learners. */
const versionMin = '3.4'
const foldersAboveMax = 5

const compareVersions = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

export async function findEtcd(
  processes: Pick<Processes, 'run'>,
  signal: AbortSignal,
  candidates: readonly string[] = etcdCandidates(process.env['PATH'] ?? '', dirname(fileURLToPath(import.meta.url))),
): Promise<EtcdExecutable> {
  const found: EtcdExecutable[] = []
  for (const path of candidates) {
    const { stdout } = await processes.run(path, ['--version'], { environment: etcdEnvironment }, signal)
    const [, version] = /^etcd Version: (\d+\.\d+\.\d+\S*)/m.exec(stdout) ?? []
    if (version !== undefined) found.push({ path, version })
  }
  const newest = found.toSorted((a, b) => compareVersions(b.version, a.version))[0]
  if (newest !== undefined && compareVersions(newest.version, versionMin) >= 0) return newest
  throw new Error(
    newest === undefined
      ? 'there is no etcd on the PATH; install etcd (on Debian and Ubuntu: apt install etcd-server), or name an etcd that runs already: --store etcd=<urls>'
      : `${newest.path} is etcd ${newest.version}; ${versionMin} or newer is needed`,
  )
}

/** Files named etcd in the folders of the path, and in `.cache/etcd/<version>` of the checkout that contains `folder`. */
export function etcdCandidates(path: string, folder: string): readonly string[] {
  const folders = path.split(delimiter).filter((each) => each !== '')
  for (let above = folder, level = 0; level < foldersAboveMax; above = dirname(above), level++) {
    const cache = join(above, '.cache', 'etcd')
    if (!existsSync(cache)) continue
    folders.push(...readdirSync(cache).map((version) => join(cache, version)))
    break
  }
  return [...new Set(folders.map((each) => join(each, 'etcd')))].filter((file) => existsSync(file))
}
