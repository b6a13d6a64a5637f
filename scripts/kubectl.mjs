// Finds the real kubectl, or fetches it from Debian's packages into .cache/ without changing the system.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fetchFromSuites } from './debian-archive.mjs'

// Debian releases whose kubectl runs on the C library of the oldest release that we support.
const debianSuites = ['trixie', 'forky']
const minorOldest = 27

const cacheOf = (root) => join(root, '.cache', 'kubectl')

export const hasFetchedKubectl = (root) => existsSync(cacheOf(root))

/** A usable kubectl of each minor version as `{ version, path, cached }`, newest last; a fetched one before the machine's own. */
export function findKubectls(root) {
  const cached = existsSync(cacheOf(root))
    ? readdirSync(cacheOf(root)).map((version) => ({
        version,
        path: join(cacheOf(root), version, 'kubectl'),
        cached: true,
      }))
    : []
  const onPath = pathCandidates()
    .map((path) => ({ version: versionOf(path), path, cached: false }))
    .filter(({ version }) => version !== undefined)
  const seen = new Map()
  for (const found of [...onPath, ...cached])
    if (minorOf(found.version) >= minorOldest) seen.set(minorOf(found.version), found)
  // oxlint-disable-next-line unicorn/no-array-sort -- toSorted is newer than the Node.js that may run this
  return [...seen.values()].sort((a, b) => minorOf(a.version) - minorOf(b.version))
}

/** Fetches one kubectl per Debian suite; returns the reasons of failures. */
export function fetchKubectls(root, log) {
  const targetOf = (binary) => {
    const version = versionOf(binary)
    return version === undefined ? undefined : join(cacheOf(root), version, 'kubectl')
  }
  return fetchFromSuites({ package: 'kubectl', path: 'usr/bin/kubectl' }, debianSuites, targetOf, log)
}

function pathCandidates() {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => existsSync(folder))
  return folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^kubectl(\.1\.\d+)?$/.test(name))
      .map((name) => join(folder, name)),
  )
}

function versionOf(path) {
  const { status, stdout } = spawnSync(path, ['version', '--client', '-o', 'json'], {
    encoding: 'utf8',
    timeout: 10_000,
  })
  if (status !== 0) return undefined
  return JSON.parse(stdout)
    .clientVersion?.gitVersion?.replace(/^v/, '')
    .replace(/[^0-9.].*$/, '')
}

const minorOf = (version) => Number(version.split('.')[1])
