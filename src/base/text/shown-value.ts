// shownValue: a text of a user in a message, quoted and of limited length.

const charactersMax = 60

export const shownValue = (text: string): string =>
  JSON.stringify(text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text)
