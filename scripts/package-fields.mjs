// Removes the fields of package.json that only the checkout needs (the pinned Node.js, the setup) from the package, and adds the
// manual pages that were built: `publish` before packing, `restore` afterwards.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const path = fileURLToPath(new URL('../package.json', import.meta.url))
const backup = fileURLToPath(new URL('../.cache/package.json.backup', import.meta.url))

if (process.argv[2] === 'restore') {
  if (existsSync(backup)) renameSync(backup, path)
} else {
  const text = readFileSync(path, 'utf8')
  mkdirSync(dirname(backup), { recursive: true })
  writeFileSync(backup, text)
  const { scripts: _, devDependencies: __, optionalDependencies: ___, ...published } = JSON.parse(text)
  const man = readdirSync(fileURLToPath(new URL('../dist/man', import.meta.url))).toSorted()
  published.man = man.map((name) => `./dist/man/${name}`)
  // Renamed atomically: every Node.js that starts in the checkout reads this file.
  const written = `${path}.new`
  writeFileSync(written, `${JSON.stringify(published, undefined, 2)}\n`)
  chmodSync(written, 0o644)
  renameSync(written, path)
}
