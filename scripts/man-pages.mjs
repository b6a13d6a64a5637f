// Writes the manual pages: `node scripts/man-pages.mjs <folder>`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commands } from '../src/cli/commands.ts'
import { manPages } from '../src/cli/command/man-page.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const folder = resolve(process.argv[2] ?? join(root, 'dist', 'man'))

mkdirSync(folder, { recursive: true })
for (const [name, text] of manPages(commands, version)) writeFileSync(join(folder, name), text)
