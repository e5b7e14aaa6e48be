// Why a message failed, in one line. Pure.

/** The line of a reason that says what happened: the last one, or of a trace that ends with its frames the last before them. */
export function reasonLine(reason: string): string {
  const lines = reason.split('\n').map((line) => line.trim()).filter((line) => line !== '')
  return lines.findLast((line) => !/^(at |\.\.\. \d+ )/.test(line)) ?? lines.at(-1) ?? ''
}

/** What reasons of the same kind have in common: the line, with … for numbers and ids. */
export function reasonKind(reason: string): string {
  return reasonLine(reason).replace(/\b(?=[\da-f-]*\d)[\da-f]+(?:[-.:][\da-f]+)*\b/gi, '…')
}
