// The index of the flow pages lists every page with its title.
import { deepEqual } from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'

const folder = new URL('../../docs/flows/', import.meta.url)

test('docs/flows/README.md lists every page under its title', async () => {
  const read = (name: string) => readFile(new URL(name, folder), 'utf8')
  const pages = (await readdir(folder)).filter((name) => name.endsWith('.md') && name !== 'README.md').toSorted()
  const listed = [...(await read('README.md')).matchAll(/^\| \[(.+)\]\((.+)\) \|/gm)].map(([, title, name]) => [
    title,
    name,
  ])
  const titled = pages.map(async (name) => [/^# (.*)$/m.exec(await read(name))?.[1], name])
  deepEqual(listed, await Promise.all(titled))
})
