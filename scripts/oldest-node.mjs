// Fetches the oldest supported Node.js from npm into .cache/.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Of 24, the newest that is packaged for both architectures. */
const version = '24.21.0'
const packageName = `node-${process.platform}-${process.arch}`

const folderOf = (root) => join(root, '.cache', `node-${version}`)

export const oldestNode = (root) => join(folderOf(root), 'node_modules', packageName, 'bin', 'node')

/** Returns the reason of a failure. */
export function fetchOldestNode(root, log) {
  log(`fetching Node.js ${version}`)
  const { stderr } = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folderOf(root), `${packageName}@${version}`],
    { encoding: 'utf8' },
  )
  return existsSync(oldestNode(root)) ? undefined : stderr.trim().split('\n').at(-1)
}
