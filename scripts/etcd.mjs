// Finds the real etcd in every available version: the system's own, and Debian's next one in .cache/.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fetchFromSuites } from './debian-archive.mjs'

const debianSuites = ['trixie']

const cacheOf = (root) => join(root, '.cache', 'etcd')

/** Every usable etcd as `{ version, path }`, oldest first. */
export function findEtcds(root) {
  const cached = existsSync(cacheOf(root))
    ? readdirSync(cacheOf(root)).map((name) => join(cacheOf(root), name, 'etcd'))
    : []
  const onPath = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'etcd'))
  const seen = new Map()
  for (const path of [...cached, ...onPath]) {
    const version = existsSync(path) ? versionOf(path) : undefined
    if (version !== undefined) seen.set(version, { version, path })
  }
  // oxlint-disable-next-line unicorn/no-array-sort -- toSorted is newer than the Node.js that may run this
  return [...seen.values()].sort((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }))
}

export const hasFetchedEtcd = (root) => existsSync(cacheOf(root))

/** Fetches an etcd that is newer than the system's own; returns the reason of a failure. */
export function fetchEtcds(root, log) {
  const targetOf = (binary) => {
    const version = versionOf(binary)
    return version === undefined ? undefined : join(cacheOf(root), version, 'etcd')
  }
  return fetchFromSuites({ package: 'etcd-server', path: 'usr/bin/etcd' }, debianSuites, targetOf, log)
}

/** The variable that etcd requires on processors that its developers do not test. */
export const etcdEnvironment = {
  ...process.env,
  ETCD_UNSUPPORTED_ARCH: process.arch === 'x64' ? 'amd64' : process.arch,
}

function versionOf(path) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000, env: etcdEnvironment })
  return status === 0 ? /etcd Version: (\S+)/.exec(stdout)?.[1] : undefined
}
