//! The same steps on the CPU.

use crate::{GRID, MAX_NEIGHBOURS, REACH, SIDE, State};

const GRAVITY: i32 = 24;
const MAX_SPEED: i32 = REACH / 2;

fn cell_of([x, y]: [i32; 2]) -> usize {
    (y / REACH * GRID + x / REACH) as usize
}

/// The neighbours of each particle, in the order of their cells.
pub fn neighbours(state: &State) -> Vec<Vec<u32>> {
    let mut cells = vec![Vec::new(); (GRID * GRID) as usize];
    for (particle, &position) in (0..).zip(&state.positions) {
        cells[cell_of(position)].push(particle);
    }
    let of = |(particle, &[x, y]): (u32, &[i32; 2])| {
        let around = |at: i32| (at / REACH - 1).max(0)..(at / REACH + 2).min(GRID);
        let near = around(y).flat_map(|row| around(x).map(move |column| (row * GRID + column) as usize));
        let is_neighbour = |&other: &u32| {
            let [other_x, other_y] = state.positions[other as usize];
            let [x, y] = [i64::from(other_x - x), i64::from(other_y - y)];
            other != particle && x * x + y * y < i64::from(REACH) * i64::from(REACH)
        };
        near.flat_map(|cell| &cells[cell]).copied().filter(is_neighbour).take(MAX_NEIGHBOURS).collect()
    };
    (0..).zip(&state.positions).map(of).collect()
}

/// The state after a step.
pub fn step(state: &State, neighbours: &[Vec<u32>]) -> State {
    let mut next = state.clone();
    for (particle, near) in neighbours.iter().enumerate() {
        let (mut position, mut velocity) = (state.positions[particle], state.velocities[particle]);
        let mut change = [0, GRAVITY];
        for &other in near {
            let other = other as usize;
            let apart = [0, 1].map(|axis| state.positions[other][axis] - position[axis]);
            let strength = (REACH * REACH - apart[0] * apart[0] - apart[1] * apart[1]) >> 18;
            for axis in 0..2 {
                change[axis] -= (apart[axis] * strength) >> 12;
                change[axis] += (state.velocities[other][axis] - velocity[axis]) >> 5;
            }
        }
        for axis in 0..2 {
            let speed = velocity[axis] + change[axis];
            velocity[axis] = (speed - (speed >> 7)).clamp(-MAX_SPEED, MAX_SPEED);
            position[axis] += velocity[axis];
            if !(0..SIDE).contains(&position[axis]) {
                let is_before = position[axis] < 0;
                position[axis] = if is_before { -position[axis] } else { 2 * SIDE - 1 - position[axis] };
                velocity[axis] = -(velocity[axis] >> 1);
            }
        }
        (next.positions[particle], next.velocities[particle]) = (position, velocity);
    }
    next
}
