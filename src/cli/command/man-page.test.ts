import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { commands } from '../commands.ts'
import { defineCommand } from './command.ts'
import { examples } from './examples.ts'
import { manPages } from './man-page.ts'

const pages = manPages(commands, '1.2.3')

test('there is a page for each command, and one that lists them', () =>
  deepEqual(
    [...pages.keys()].toSorted(),
    ['coxswain.1', ...commands.map(({ name }) => `coxswain-${name}.1`)].toSorted(),
  ))

test('every flag and every example of a command is on its page', () => {
  for (const { name, options, summary } of commands) {
    const page = pages.get(`coxswain-${name}.1`) ?? ''
    const plain = page.replaceAll(String.raw`\-`, '-').replaceAll(String.raw`\e`, '\\')
    match(plain, new RegExp(`^coxswain-${name} - `, 'm'))
    for (const flag of Object.keys(options)) ok(plain.includes(String.raw`\fB--${flag}\fR`), `${name} --${flag}`)
    for (const [line] of examples[name] ?? []) ok(plain.includes(line), line)
    ok(pages.get('coxswain.1')?.includes(summary.replaceAll('-', String.raw`\-`)), name)
  }
})

/** The macros that are used, and how many arguments each has at most. */
const macros: Readonly<Record<string, number>> = {
  TH: 5,
  SH: 1,
  SS: 1,
  TP: 0,
  PP: 0,
  EX: 0,
  EE: 0,
  nh: 0,
  ad: 1,
  in: 1,
}

test('the pages have the structure of man(7), in ASCII', () => {
  for (const [name, page] of pages) {
    const lines = page.split('\n')
    match(lines[0] ?? '', /^\.TH "COXSWAIN[A-Z0-9\\-]*" 1 "" "Coxswain 1\.2\.3" "Coxswain manual"$/, name)
    deepEqual(page.match(/[^ -~\n]/g), null, name)
    const titles = lines.flatMap((line) => /^\.SH "(.*)"$/.exec(line)?.[1] ?? [])
    deepEqual(titles.slice(0, 2), ['NAME', 'SYNOPSIS'], name)
    deepEqual(titles.slice(-2), ['EXIT STATUS', 'SEE ALSO'], name)
    for (const line of lines.filter((each) => /^[.']/.test(each))) {
      const [, macro = '', rest = ''] = /^\.(\w+) ?(.*)$/.exec(line) ?? []
      const count = rest.match(/"(?:[^"]|"")*"|\S+/g)?.length ?? 0
      ok(macro in macros && count <= (macros[macro] ?? 0), `${name}: ${line}`)
    }
    // A paragraph with a tag consists of the tag and its text.
    for (const [index, line] of lines.entries())
      if (line === '.TP')
        ok(![lines[index + 1], lines[index + 2]].some((next) => next?.startsWith('.')), `${name}: line ${index}`)
    equal(lines.filter((line) => line === '.EX').length, lines.filter((line) => line === '.EE').length, name)
  }
})

test('text cannot become a macro or an escape sequence', () => {
  const odd = defineCommand({
    name: 'odd',
    summary: String.raw`prints \fB and "…"`,
    operands: '<kind>/<name>',
    options: {
      'a-b': { type: 'string', value: '<x>', short: 'a', help: '.TH starts the help', section: '\'it is "rare"' },
    },
    run: () => Promise.resolve(0),
  })
  const page = manPages([odd], '1').get('coxswain-odd.1') ?? ''
  match(page, /^coxswain\\-odd \\- prints \\efB and "\\\[u2026\]"$/m)
  match(page, /^\\&\.TH starts the help$/m)
  match(page, /^\.SS "\\&'it is ""rare"""$/m)
  match(page, /^\\fB\\-a\\fR, \\fB\\-\\-a\\-b\\fR \\fI<x>\\fR$/m)
})

test('the programs that render manual pages have no complaint', () => {
  const renderers = [
    ['groff', '-man', '-Tutf8', '-ww', '-z'],
    ['mandoc', '-T', 'lint', '-W', 'warning'],
  ] as const
  const input = [...pages.values()].join('')
  for (const [program, ...args] of renderers) {
    const { error, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
    if (error !== undefined && 'code' in error && error.code === 'ENOENT') continue
    equal(`${stdout}${stderr}`, '', program)
  }
})
