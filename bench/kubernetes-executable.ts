// kubernetesExecutable: a program of Kubernetes from a directory of executables, which may be packed with xz, directly in the
// directory or in one for each architecture.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Go's names of architectures. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The path of the executable. A packed one is unpacked into `folder`. */
export async function kubernetesExecutable(directory: string, name: string, folder: string): Promise<string> {
  const places = ['', architectures[process.arch] ?? process.arch].map((part) => join(directory, part, name))
  const plain = places.find((path) => existsSync(path))
  if (plain !== undefined) return plain
  const packed = places.map((path) => `${path}.xz`).find((path) => existsSync(path))
  if (packed === undefined) throw new Error(`there is no ${name} in ${directory}`)
  const unpacked = join(folder, name)
  await run('sh', ['-c', 'xz -dc "$1" > "$2" && chmod 755 "$2"', 'sh', packed, unpacked])
  return unpacked
}
