// The systemd unit of a machine: the text of its file, with a command line that systemd takes word by word.

/** The first line of every unit that coxswain writes. Other files are neither replaced nor removed. */
export const unitMark = '# Written by coxswain service install; coxswain service uninstall removes it.'

/** Quotes a word of ExecStart: without variables, specifiers and escapes. Throws on a word with control characters. */
export function unitWord(word: string): string {
  if (/\p{Cc}/u.test(word)) throw new Error(`${JSON.stringify(word)} contains a control character`)
  const escaped = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w@%+=:,./$-]+$/.test(escaped) ? escaped : `"${escaped}"`
}

/** `program` is the executable, with its arguments. */
export const unitText = (description: string, program: readonly string[]): string => `${unitMark}
[Unit]
Description=${description}
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=${program.map(unitWord).join(' ')}
# Containers are not ended with the service.
KillMode=process
Delegate=yes
Restart=always
RestartSec=2
TimeoutStopSec=120
LimitNOFILE=1048576
TasksMax=infinity
OOMScoreAdjust=-999

[Install]
WantedBy=multi-user.target
`
