// openBrowser: opens a link in the user's browser, where there is one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

type Environment = Readonly<Record<string, string | undefined>>

/** The program that opens a link; undefined where no browser can be shown. */
export function browserCommand(
  platform: string,
  { DISPLAY, WAYLAND_DISPLAY, BROWSER }: Environment,
): string | undefined {
  if (platform === 'darwin') return 'open'
  return DISPLAY || WAYLAND_DISPLAY || BROWSER ? 'xdg-open' : undefined
}

/**
 * Whether the program has opened the link. The link is an argument of the program, which other processes of this machine
 * can read; its code works once, for a minute.
 */
export async function openBrowser(command: string, link: string): Promise<boolean> {
  const child = spawn(command, [link], { stdio: 'ignore', detached: true })
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return code === 0
  } catch {
    return false // the program is not installed
  }
}
