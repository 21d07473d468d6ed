/** A choice between a few forms of display. */

interface ChoicesProps {
  readonly label: string;
  readonly choices: readonly (readonly [name: string, isChosen: boolean, choose: () => void])[];
}

export function Choices({ label, choices }: ChoicesProps) {
  return (
    <div class="choices" role="group" aria-label={label}>
      {choices.map(([name, isChosen, choose]) => (
        <button key={name} type="button" class="small" aria-pressed={isChosen} onClick={choose}>
          {name}
        </button>
      ))}
    </div>
  );
}
