import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { browserCommand, openBrowser } from './open-browser.ts'

const platforms: [platform: string, environment: Record<string, string>, command: string | undefined][] = [
  ['linux', { DISPLAY: ':0' }, 'xdg-open'],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  ['linux', { BROWSER: 'lynx' }, 'xdg-open'],
  ['linux', { DISPLAY: '' }, undefined],
  ['darwin', {}, 'open'],
]

test('a browser is opened where one can be shown', () => {
  for (const [platform, environment, command] of platforms) equal(browserCommand(platform, environment), command)
})

test('the exit code says whether the link was opened', async () => {
  equal(await openBrowser('true', 'https://127.0.0.1/'), true)
  equal(await openBrowser('false', 'https://127.0.0.1/'), false)
  equal(await openBrowser('/does/not/exist', 'https://127.0.0.1/'), false)
})
