// What stands in package.json for the checkout only (the pinned Node.js, the set-up) is left out of the package:
// `publish` before it is packed, `restore` after.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const path = fileURLToPath(new URL('../package.json', import.meta.url))
const kept = fileURLToPath(new URL('../.cache/package.json.kept', import.meta.url))

if (process.argv[2] === 'restore') {
  if (existsSync(kept)) renameSync(kept, path)
} else {
  const text = readFileSync(path, 'utf8')
  mkdirSync(dirname(kept), { recursive: true })
  writeFileSync(kept, text)
  const { scripts: _, devDependencies: __, optionalDependencies: ___, ...published } = JSON.parse(text)
  // At once: every Node.js that starts in the checkout reads this file.
  const written = `${path}.new`
  writeFileSync(written, `${JSON.stringify(published, undefined, 2)}\n`)
  renameSync(written, path)
}
