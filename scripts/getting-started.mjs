// Runs the commands of the getting-started page in a fresh clone of the committed state: node
// scripts/getting-started.mjs. The packages are installed in the clone with npm ci; with --linked those of this
// checkout are used.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'coxswain-clone-'))
const clone = join(folder, 'coxswain')

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`)
}

try {
  run('git', ['clone', '--quiet', root, clone], folder)
  if (process.argv.includes('--linked'))
    for (const name of ['node_modules', '.cache']) {
      if (existsSync(join(root, name))) symlinkSync(join(root, name), join(clone, name))
    }
  else run('npm', ['run', 'setup'], clone)
  run(join(clone, 'node_modules', '.bin', 'node'), ['--test', 'test/getting-started/getting-started.test.ts'], clone)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
