import { equal, throws } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { withOptions } from './busybox-build.ts'

const defaults = `# CONFIG_STATIC is not set
# CONFIG_STATIC_LIBGCC is not set
CONFIG_TC=y
CONFIG_TCPSVD=y
`

suite('the configuration of busybox', () => {
  for (const [title, changes, expected] of [
    [
      'has an option that is switched on',
      { STATIC: true },
      defaults.replace('# CONFIG_STATIC is not set', 'CONFIG_STATIC=y'),
    ],
    ['lacks an option that is switched off', { TC: false }, defaults.replace('CONFIG_TC=y', '# CONFIG_TC is not set')],
    ['keeps an option that is as it must be', { TC: true, STATIC: false }, defaults],
  ] as const)
    test(title, () => equal(withOptions(defaults, new Map(Object.entries(changes))), expected))

  test('is rejected if it has no such option', () => {
    throws(() => withOptions(defaults, new Map([['STATICS', true]])), /^Error: busybox has no option STATICS$/)
  })
})
