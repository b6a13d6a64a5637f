// The executables of Kubernetes, which are not part of this project: a folder that has them, or that has them for each
// architecture in a subfolder, plain or compressed with xz.
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { architecture } from './containers/busybox.ts'

/** The folder that is used if none is named. */
export const upstreamFolder = (
  environment: Readonly<Record<string, string | undefined>> = process.env,
  home = homedir(),
): string => environment['COXSWAIN_SUITE'] || join(home, '.cache/coxswain/suite')

/** The path of an executable, or undefined if there is none. A compressed one is unpacked into `cache` once. */
export function upstreamExecutable(folder: string, name: string, cache: string): string | undefined {
  const places = [join(folder, name), join(folder, architecture, name)]
  const plain = places.find((path) => existsSync(path))
  if (plain !== undefined) return plain
  const packed = places.map((path) => `${path}.xz`).find((path) => existsSync(path))
  if (packed === undefined) return undefined
  mkdirSync(cache, { recursive: true })
  const unpacked = join(cache, name)
  unpack(packed, unpacked)
  return unpacked
}

/** An executable that is newer than its archive is kept. */
export function unpack(from: string, to: string): void {
  if (existsSync(to) && statSync(to).mtimeMs >= statSync(from).mtimeMs) return
  const file = openSync(`${to}.new`, 'w', 0o755)
  const { status, stderr } = spawnSync('xz', ['-dc', from], { stdio: ['ignore', file, 'pipe'], encoding: 'utf8' })
  closeSync(file)
  if (status !== 0) throw new Error(`${from} could not be unpacked: ${stderr}`)
  renameSync(`${to}.new`, to)
}
