// Gives the files of the package the modes that a clone has with the umask 022, so that the package does not depend on the
// umask of who makes it.
import { chmodSync, globSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('..', import.meta.url))
const { files } = JSON.parse(readFileSync(`${cwd}package.json`, 'utf8'))

/** npm always packs these. */
const packedAlways = ['LICENSE', 'README.md']

for (const path of globSync([...packedAlways, ...files, ...files.map((each) => `${each}/**`)], { cwd })) {
  const { mode } = statSync(`${cwd}${path}`)
  chmodSync(`${cwd}${path}`, (mode & 0o100) === 0 ? 0o644 : 0o755)
}
